package kube

import "context"

// Connector connects to the controller of a run as soon as that is possible, and keeps the connection. It is not safe for concurrent use.
type Connector struct {
	cluster Cluster
	run     *Run
	remote  *Remote // nil = not connected
}

// NewConnector returns a connector to the controller of a run.
func NewConnector(c Cluster, run *Run) *Connector { return &Connector{cluster: c, run: run} }

// Remote returns the controller. An error means that it cannot be reached yet, or any more.
func (c *Connector) Remote(ctx context.Context) (*Remote, error) {
	if c.remote == nil {
		remote, err := NewRemote(ctx, c.cluster, c.run)
		if err != nil {
			return nil, err
		}
		c.remote = remote
	}
	return c.remote, nil
}

// Close closes the connection, if there is one.
func (c *Connector) Close() {
	if c.remote != nil {
		c.remote.Close()
	}
}
