package network

import (
	"errors"
	"net/netip"
	"sync"
)

// Addresses hands out the addresses of pods and takes them back.
type Addresses struct {
	network Network
	mu      sync.Mutex
	used    [255]bool
	last    int
}

// NewAddresses returns the 253 addresses of a network, all of them free.
func NewAddresses(n Network) *Addresses { return &Addresses{network: n, last: 1} }

// Take returns the free address after the one taken last, so that an address is not reused at once.
func (a *Addresses) Take() (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range 253 {
		if a.last++; a.last > 254 {
			a.last = 2
		}
		if !a.used[a.last] {
			a.used[a.last] = true
			return a.network.Pod(a.last), nil
		}
	}
	return netip.Addr{}, errors.New("no free pod address: a lab has 253")
}

// Free takes an address back.
func (a *Addresses) Free(address netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used[address.As4()[3]] = false
}
