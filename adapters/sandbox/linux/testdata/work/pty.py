import fcntl, os, pty, select, struct, sys, termios, tty
m, s = pty.openpty(); assert os.isatty(s) and os.ttyname(s).startswith('/dev/pts/')
fcntl.ioctl(s, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 120, 0, 0)); assert os.get_terminal_size(s) == (120, 40)
old = termios.tcgetattr(s); tty.setraw(s); os.write(m, b'raw'); assert os.read(s, 3) == b'raw'; termios.tcsetattr(s, termios.TCSANOW, old)
def session(argv, typed=b'', after=b''):
    pid, fd = pty.fork()
    if pid == 0: os.execvp(argv[0], argv)
    out = b''
    while after not in out: out += os.read(fd, 4096)
    os.write(fd, typed)
    while True:
        try: b = os.read(fd, 4096)
        except OSError: break
        if not b: break
        out += b
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), out
assert session(['sh', '-c', 'test -t 0 && test -t 1 && tty']) [1].startswith(b'/dev/pts/')
code, out = session(['sh'], b'echo $((6 * 7))\nexit 3\n'); assert code == 3 and b'42' in out, (code, out)
# the program's own terminal by its usual name, as password prompts and pagers open it
code, out = session(['sh', '-c', 'echo asked >/dev/tty; read -r a </dev/tty; echo "got $a"'], b'answer\n'); assert code == 0 and b'asked' in out and b'got answer' in out, (code, out)
code, _ = session(['sh', '-c', 'trap "exit 9" INT; echo ready; sleep 60 & wait'], b'\x03', b'ready'); assert code in (9, -2, 130), code
