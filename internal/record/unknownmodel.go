package record

import (
	"net/http"
	"regexp"
	"strings"
)

// unknownModel is how servers say that they have no such model; the word alone may stand in a path.
var unknownModel = regexp.MustCompile("model_?not_?found|model['\"`: ]+[^ ]+ (does not exist|not found|is not found|was not found)|" +
	"(no such|unknown|invalid) model|model (does not exist|not found)")

// UnknownModel tells whether the server says that it has no such model.
func (e *Error) UnknownModel() bool {
	return e.Code == http.StatusNotFound && unknownModel.MatchString(strings.ToLower(e.Message))
}
