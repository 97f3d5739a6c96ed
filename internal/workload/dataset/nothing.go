package dataset

import "fmt"

// NothingError reports that a valid configuration leaves no request to send.
type NothingError struct{ text string }

// Nothing returns a NothingError.
func Nothing(format string, args ...any) error {
	return &NothingError{fmt.Sprintf(format, args...)}
}

func (e *NothingError) Error() string { return e.text }
