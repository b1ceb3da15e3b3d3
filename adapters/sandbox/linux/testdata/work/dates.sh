# needs: date touch
test "$(date -u -d @0 +%Y-%m-%dT%H:%M:%S)" = 1970-01-01T00:00:00
test "$(TZ=JST-9 date -d @0 +%H)" = 09
if test -e /usr/share/zoneinfo/Asia/Tokyo; then test "$(TZ=Asia/Tokyo date -d @0 +%H%Z)" = 09JST; fi
touch -d '2001-02-03 04:05:06.789 UTC' f
test "$(date -u -r f +%F)" = 2001-02-03
touch -r f g
test "$(stat -c %.3Y g)" = 981173106.789
touch h
test h -nt g
