package hf

// UnfitError reports that a tokenizer exists but cannot be used here. Another one must be chosen for the model.
type UnfitError struct{ Text string }

func (e *UnfitError) Error() string { return e.Text }
