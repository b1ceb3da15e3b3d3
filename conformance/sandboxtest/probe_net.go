package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

const probeTimeout = 30 * time.Second

// Echo sends a pattern and compares what comes back.
func (realSystem) Echo(address string, n int64) error {
	c, err := net.DialTimeout("tcp", address, probeTimeout)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	return echo(c, n)
}

func echo(c net.Conn, n int64) error {
	sent := make(chan error, 1)
	go func() {
		_, err := io.Copy(c, io.LimitReader(&pattern{}, n))
		if h, ok := c.(interface{ CloseWrite() error }); ok && err == nil {
			err = h.CloseWrite()
		}
		sent <- err
	}()
	got, want := make([]byte, 64<<10), make([]byte, 64<<10)
	expect, total := &pattern{}, int64(0)
	for {
		k, err := c.Read(got)
		_, _ = io.ReadFull(expect, want[:k])
		if !bytes.Equal(got[:k], want[:k]) {
			return fmt.Errorf("other bytes after %d", total)
		}
		total += int64(k)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("after %d bytes: %w", total, err)
		}
	}
	if err := <-sent; err != nil {
		return err
	}
	if total != n {
		return fmt.Errorf("%d of %d bytes came back", total, n)
	}
	return nil
}

// pattern is bytes whose period fits no buffer.
type pattern struct{ at int }

func (p *pattern) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(p.at % 251)
		p.at++
	}
	return len(b), nil
}

func (realSystem) Fan(address string, n int) (worked int) {
	conns := make([]net.Conn, n)
	var wait sync.WaitGroup
	for i := range conns {
		wait.Go(func() { conns[i], _ = net.DialTimeout("tcp", address, probeTimeout) })
	}
	wait.Wait()
	for _, c := range conns {
		if c == nil {
			continue
		}
		_ = c.SetDeadline(time.Now().Add(probeTimeout))
		b := []byte("hello")
		if _, err := c.Write(b); err != nil {
			continue
		}
		if _, err := io.ReadFull(c, b); err == nil && string(b) == "hello" {
			worked++
		}
	}
	for _, c := range conns {
		if c != nil {
			_ = c.Close()
		}
	}
	return worked
}

func (realSystem) Resolve(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	_, err := net.DefaultResolver.LookupHost(ctx, name)
	return err
}

func (realSystem) Own() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = io.Copy(c, c)
			_ = c.Close()
		}
	}()
	c, err := net.DialTimeout("tcp", l.Addr().String(), probeTimeout)
	if err != nil {
		return err
	}
	return errors.Join(echo(c, 1000), c.Close())
}
