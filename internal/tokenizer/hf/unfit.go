package hf

// UnfitError says that a tokenizer exists, but that its counts cannot be had here; the model needs another one.
type UnfitError struct{ Text string }

func (e *UnfitError) Error() string { return e.Text }
