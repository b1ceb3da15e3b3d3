# needs: /usr/bin/python3
/usr/bin/python3 -m venv --without-pip v
test "$(v/bin/python -c 'import sys; print(sys.prefix)')" = "$PWD/v"
. v/bin/activate
test "$(command -v python)" = "$PWD/v/bin/python"
python -c 'import sys; assert sys.prefix != sys.base_prefix'
printf '#!%s/v/bin/python\nprint("tool")\n' "$PWD" >v/bin/tool
chmod +x v/bin/tool
test "$(tool)" = tool
