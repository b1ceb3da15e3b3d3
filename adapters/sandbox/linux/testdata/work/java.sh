# needs: java javac
cat >M.java <<'J'
import java.nio.file.*;
import java.util.concurrent.*;
import java.util.stream.*;
public class M {
	public static void main(String[] a) throws Exception {
		var e = Executors.newFixedThreadPool(8);
		int n = 0;
		for (var f : e.invokeAll(IntStream.range(0, 42).<Callable<Integer>>mapToObj(i -> () -> 1).toList())) n += f.get();
		e.shutdown();
		var p = new ProcessBuilder("echo", "child").start();
		var s = new String(p.getInputStream().readAllBytes()).trim();
		Files.writeString(Path.of("out"), "x");
		System.out.println(n + s + IntStream.range(0, 100).parallel().sum() + System.getProperty("user.name"));
	}
}
J
javac M.java
test "$(java -cp . M)" = 42child4950agent
