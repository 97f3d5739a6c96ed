package kubelet

import (
	"io"
	"net"
	"os"
	"testing"
)

func TestJoinCopiesBothWays(t *testing.T) {
	client, ours := net.Pipe()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // a server that says what it heard, once the client has said everything
		conn, err := l.Accept()
		if err == nil {
			_, _ = io.Copy(conn, io.LimitReader(conn, 5))
			_ = conn.Close()
		}
	}()
	conn, err := dialIn(os.Getpid(), l.Addr().String())
	if os.IsPermission(err) {
		t.Fatal("namespaces need root: run make kubelab as root")
	}
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- join(conn, ours); _ = ours.Close() }()
	if _, err := client.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(client)
	if err != nil || string(got) != "hello" {
		t.Errorf("got %q (%v), want hello", got, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
