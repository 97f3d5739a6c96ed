package dataset

import "fmt"

// EmptyError reports that a valid configuration leaves no request to send.
type EmptyError struct{ text string }

// Empty returns an EmptyError.
func Empty(format string, args ...any) error {
	return &EmptyError{fmt.Sprintf(format, args...)}
}

func (e *EmptyError) Error() string { return e.text }
