package network

import "testing"

func TestAddressesAreReusedLast(t *testing.T) {
	a := NewAddresses(At(28100))
	first, err := a.Take()
	if err != nil || first.String() != "10.88.184.2" {
		t.Fatalf("the first address is %v (%v), want 10.88.184.2", first, err)
	}
	a.Free(first)
	if second, _ := a.Take(); second == first {
		t.Errorf("%v was reused at once", second)
	}
	for range 252 {
		if _, err := a.Take(); err != nil {
			t.Fatal(err)
		}
	}
	if again, err := a.Take(); err == nil {
		t.Errorf("the 254th pod got %v", again)
	}
}

func TestLabsDoNotMeet(t *testing.T) {
	a, b := At(28100), At(28108)
	if a.Gateway() == b.Gateway() || a.Bridge() == b.Bridge() {
		t.Errorf("two labs share %v or %s", a.Gateway(), a.Bridge())
	}
	if len(At(65535).Bridge()) > 15 {
		t.Error("Linux refuses names of interfaces over 15 characters")
	}
}
