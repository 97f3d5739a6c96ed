package record

import (
	"net/http"
	"strings"

	"aiperf/internal/base/lazyregexp"
)

// unknownModel matches server errors about an unknown model. The word alone may be part of a path.
var unknownModel = lazyregexp.New("model_?not_?found|model['\"`: ]+[^ ]+ (does not exist|not found|is not found|was not found)|" +
	"(no such|unknown|invalid) model|model (does not exist|not found)")

// UnknownModel reports whether the server's error means that it does not have the model.
func (e *Error) UnknownModel() bool {
	return e.Code == http.StatusNotFound && unknownModel.MatchString(strings.ToLower(e.Message))
}
