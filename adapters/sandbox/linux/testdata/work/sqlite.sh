# needs: sqlite3
sqlite3 d.db 'pragma journal_mode=wal; create table t(a, b); insert into t values (1, "x"), (2, "y");' >/dev/null
test "$(sqlite3 d.db 'select sum(a) from t')" = 3
sqlite3 d.db .dump | sqlite3 e.db
test "$(sqlite3 e.db 'select group_concat(b) from t')" = x,y
sqlite3 d.db '.backup f.db'
test "$(sqlite3 f.db 'pragma integrity_check')" = ok
printf '3,z\n' >in.csv
sqlite3 -csv d.db '.import in.csv t'
test "$(sqlite3 d.db 'select count(*) from t')" = 3
