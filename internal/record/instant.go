package record

// Clock says where an instant of arrival was taken.
type Clock uint8

// The clocks, from the worst to the best.
const (
	UserClock   Clock = iota // the client's read returned: the client's own delay is in it
	KernelClock              // the kernel received the last segment of the read
	PacketClock              // packet capture: the segment that completed the message arrived
)

var clockNames = [...]string{"user", "kernel", "packet"}

// String is the name of a clock as exports spell it.
func (c Clock) String() string {
	if int(c) < len(clockNames) {
		return clockNames[c]
	}
	return clockNames[UserClock]
}

// ParseClock reads the name of a clock; a name that is not known is the user's clock, which promises least.
func ParseClock(name string) Clock {
	for i, n := range clockNames {
		if n == name {
			return Clock(i)
		}
	}
	return UserClock
}
