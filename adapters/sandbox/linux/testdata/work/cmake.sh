# needs: cmake make cc
mkdir src
cat >src/CMakeLists.txt <<'M'
cmake_minimum_required(VERSION 3.10)
project(demo C)
find_package(Threads REQUIRED)
add_library(twice STATIC twice.c)
add_executable(app main.c)
target_link_libraries(app twice Threads::Threads)
enable_testing()
add_test(NAME runs COMMAND app)
M
echo 'int twice(int n) { return 2 * n; }' >src/twice.c
echo 'int twice(int); int main(void) { return twice(21) != 42; }' >src/main.c
cmake -S src -B build >/dev/null
cmake --build build -j 4 >/dev/null
(cd build && ctest) | grep -q '100% tests passed'
cmake --install build --prefix "$PWD/out" >/dev/null 2>&1 || true
