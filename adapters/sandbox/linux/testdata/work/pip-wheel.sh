# needs: /usr/bin/python3 python:ensurepip
/usr/bin/python3 -m venv v
cat >make.py <<'P'
import zipfile
files = {'demo_pkg/__init__.py': 'def main():\n    print("from the wheel")\n',
         'demo_pkg-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: demo-pkg\nVersion: 1.0\n',
         'demo_pkg-1.0.dist-info/WHEEL': 'Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
         'demo_pkg-1.0.dist-info/entry_points.txt': '[console_scripts]\ndemo = demo_pkg:main\n'}
files['demo_pkg-1.0.dist-info/RECORD'] = ''.join(f'{n},,\n' for n in [*files, 'demo_pkg-1.0.dist-info/RECORD'])
with zipfile.ZipFile('wheels/demo_pkg-1.0-py3-none-any.whl', 'w') as z:
    for n, text in files.items(): z.writestr(n, text)
P
mkdir wheels
v/bin/python make.py
v/bin/pip install -q --no-index --find-links wheels --disable-pip-version-check demo-pkg
test "$(v/bin/demo)" = 'from the wheel'
v/bin/pip list --disable-pip-version-check --format freeze | grep -q '^demo-pkg==1.0$'
v/bin/pip uninstall -qy demo-pkg
if v/bin/python -c 'import demo_pkg' 2>/dev/null; then exit 1; fi
