# needs: id whoami
test "$(id -un)" = agent
test "$(whoami)" = agent
test "$(id -u)" != 0
test "$(id -gn)" = agent
test "$(getent passwd "$(id -u)" | cut -d: -f1)" = agent
touch f
test "$(stat -c %U f)" = agent
test "$(ls -l f | awk '{print $3}')" = agent
cd ~
test "$PWD" = "$HOME"
