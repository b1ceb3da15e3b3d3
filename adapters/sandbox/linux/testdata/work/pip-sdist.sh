# needs: /usr/bin/python3 python:ensurepip
# pip builds it in its own isolated environment, with a backend inside the archive: nothing comes from elsewhere.
mkdir -p src-1.0 && cd src-1.0
cat >pyproject.toml <<'P'
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
P
cat >backend.py <<'P'
import os, zipfile
def build_wheel(directory, config_settings=None, metadata_directory=None):
    name = 'src_pkg-1.0-py3-none-any.whl'
    with zipfile.ZipFile(os.path.join(directory, name), 'w') as z:
        z.write('src_pkg.py')
        z.writestr('src_pkg-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\nName: src-pkg\nVersion: 1.0\n')
        z.writestr('src_pkg-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\nGenerator: b\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
        z.writestr('src_pkg-1.0.dist-info/RECORD', '')
    return name
P
printf 'answer = 42\n' >src_pkg.py
printf 'Metadata-Version: 2.1\nName: src-pkg\nVersion: 1.0\n' >PKG-INFO
cd ..
tar czf src-pkg-1.0.tar.gz src-1.0
/usr/bin/python3 -m venv v
v/bin/python -m pip install -q --no-index --disable-pip-version-check ./src-pkg-1.0.tar.gz
test "$(v/bin/python -c 'import src_pkg; print(src_pkg.answer)')" = 42
