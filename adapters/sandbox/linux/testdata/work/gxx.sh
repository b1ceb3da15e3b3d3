# needs: g++
cat >m.cc <<'C'
#include <atomic>
#include <fstream>
#include <future>
#include <iostream>
#include <map>
#include <stdexcept>
#include <thread>
#include <vector>
int main() {
	std::atomic<int> n{0}; std::vector<std::thread> ts;
	for (int i = 0; i < 10; i++) ts.emplace_back([&] { n++; });
	for (auto &t : ts) t.join();
	auto f = std::async(std::launch::async, [] { return 32; });
	std::ofstream("out") << "text"; std::string s; std::ifstream("out") >> s;
	try { throw std::runtime_error("x"); } catch (const std::exception &) { n += f.get(); }
	std::cout << n << s << std::endl;
}
C
g++ -std=c++17 -O1 -o m m.cc -pthread
test "$(./m)" = 42text
