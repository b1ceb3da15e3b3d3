if [ -e /sys/class/net/eth0 ]; then echo reached; else echo no network; fi
