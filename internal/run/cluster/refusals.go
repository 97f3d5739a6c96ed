package cluster

import (
	"fmt"

	"aiperf/internal/base/terminal"
	"aiperf/internal/wire/bus"
)

// maxRefusals is the number of refused machines that the user sees. Whoever reaches the port can be refused any number of times.
const maxRefusals = 20

// refused tells the user that the bus refused a machine.
func (c *Controller) refused(address, name, reason string) {
	c.noteRefusal(address, name, map[string]string{
		bus.DroppedToken: "its token is wrong", bus.DroppedName: "its name is not valid or taken", bus.DroppedVersion: "it runs another version of aiperf",
	}[reason])
}

// noteRefusal tells the user that a machine was refused, once for each reason and place (host name or address).
func (c *Controller) noteRefusal(place, name, reason string) {
	key := place + ": " + reason
	c.mu.Lock()
	known := c.refusal[key] || len(c.refusal) == maxRefusals
	if !known {
		c.refusal[key] = true
	}
	c.mu.Unlock() // whoever reads the note may be slow
	if known {
		return
	}
	if name != "" {
		name = " " + name
	}
	c.opts.Note(fmt.Sprintf("machine%s (%s) was refused: %s", terminal.Text(name), terminal.Text(place), reason))
}
