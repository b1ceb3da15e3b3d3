import asyncio, signal, os
async def main():
    p = await asyncio.create_subprocess_exec('cat', stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    out, _ = await p.communicate(b'through'); assert out == b'through' and p.returncode == 0
    ps = await asyncio.gather(*[asyncio.create_subprocess_shell(f'exit {i}') for i in range(8)])
    assert [await p.wait() for p in ps] == list(range(8))
    assert await asyncio.to_thread(lambda: 7) == 7
    got = asyncio.Event(); asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, got.set); os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(got.wait(), 60)
    r, w = os.pipe(); reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(r)); os.write(w, b'line\n'); assert await reader.readline() == b'line\n'
    try: await asyncio.wait_for(asyncio.sleep(60), 0.01); raise SystemExit('no timeout')
    except asyncio.TimeoutError: pass
asyncio.run(main())
