package record

// Clock is the source of an arrival timestamp.
type Clock uint8

// The clocks, from the least to the most precise.
const (
	UserClock   Clock = iota // return of the client's read, including the client's own delay
	KernelClock              // kernel's reception of the last segment of the read
	PacketClock              // packet capture: arrival of the segment that completed the message
)

var clockNames = [...]string{"user", "kernel", "packet"}

// String returns the name of a clock in exports.
func (c Clock) String() string {
	if int(c) < len(clockNames) {
		return clockNames[c]
	}
	return clockNames[UserClock]
}

// ParseClock returns the clock with a name. An unknown name gives UserClock, the least precise one.
func ParseClock(name string) Clock {
	for i, n := range clockNames {
		if n == name {
			return Clock(i)
		}
	}
	return UserClock
}
