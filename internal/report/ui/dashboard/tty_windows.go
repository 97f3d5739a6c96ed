package dashboard

// foreground tells whether this process may use its terminal.
func foreground(int) bool { return true }
