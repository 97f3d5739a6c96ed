package plane

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

func etcdURL(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

// startEtcd starts etcd in this process. It does not wait for the disk: nothing of a lab outlives a test.
func startEtcd(o Options) (*embed.Etcd, error) {
	client, err := url.Parse(etcdURL(o.Port))
	if err != nil {
		return nil, err
	}
	peer, err := url.Parse(etcdURL(o.Port + 1))
	if err != nil {
		return nil, err
	}
	c := embed.NewConfig()
	c.Dir, c.LogLevel, c.UnsafeNoFsync = filepath.Join(o.Dir, "etcd"), "panic", true
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	e, err := embed.StartEtcd(c)
	if err != nil {
		return nil, err
	}
	select {
	case <-e.Server.ReadyNotify():
		return e, nil
	case <-time.After(30 * time.Second):
		e.Close()
		return nil, errors.New("etcd is not ready after 30 s")
	}
}
