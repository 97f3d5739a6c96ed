package endpoint

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"aiperf/internal/measure/record"
)

// polledAnswer is the answer of a job: its states, message by message, and the download of its result if the manifest asks for it. Only the message
// with the result is content.
type polledAnswer struct {
	rules    *pollRules
	response *answerRules
	set      *Settings
	final    *jsonAnswer // reads the message with the result

	states   int    // number of messages about the job
	address  string // where the job is polled
	result   string // where the result is downloaded; "" = the last state holds it
	ended    bool
	fetching bool // the download was requested
	failure  *record.Error
}

// fail returns the error of the job.
func (a *polledAnswer) fail(text string) *record.Error {
	e := a.response.jobError(text)
	return &e
}

// Add implements Answer.
func (a *polledAnswer) Add(m *record.Message, index int) (content bool, failure *record.Error) {
	switch {
	case a.ended && m.Body && m.Raw == nil && m.Size() > 0:
		a.final.addBinary(m.At, index, a.response.itemKind)
		return true, nil
	case a.ended:
		return a.final.Add(m, index)
	}
	a.states++
	if a.failure = a.state(m.Raw); a.failure != nil {
		return false, a.failure
	}
	if !a.ended || a.result != "" {
		return false, nil
	}
	content, a.failure = a.final.Add(m, index)
	return content, a.failure
}

// state reads a state of the job.
func (a *polledAnswer) state(doc []byte) *record.Error {
	tree := treeOf(doc)
	if tree == nil {
		return a.fail("a state of the job is not JSON: " + quote(doc))
	}
	if f := a.response.jobFailureIn(tree); f != nil {
		return f
	}
	if a.rules.failed.holds(tree) {
		return a.fail("the job has failed: " + quote(doc))
	}
	if a.ended = a.rules.until.holds(tree); a.ended {
		a.result, _ = a.rules.download.textIn(tree)
		if a.rules.download != nil && a.result == "" {
			return a.fail("the last state of the job has no address of the result: " + quote(doc))
		}
		return nil
	}
	if address, _ := a.rules.url.textIn(tree); address != "" {
		a.address = address
	}
	if a.address == "" {
		return a.fail("the state of the job has no address to poll: " + quote(doc))
	}
	return nil
}

// Next implements Answer: it polls until the job has ended and then downloads the result.
func (a *polledAnswer) Next() *FollowUp {
	switch {
	case a.failure != nil || a.states == 0 || a.fetching || a.ended && a.result == "":
		return nil
	case a.ended:
		a.fetching = true
		return &FollowUp{Request: Request{Method: "GET", Path: followPath(a.result)}, Late: a.late(), Redirects: maxRedirects}
	}
	return &FollowUp{Request: Request{Method: "GET", Path: followPath(a.address)}, After: cmp.Or(a.rules.interval, a.set.PollInterval, defaultPoll), Forget: a.states > 1, Late: a.late()}
}

// followPath returns the path of a follow-up request: an address, an absolute path, or a name below the URL of the endpoint.
func followPath(address string) string {
	if isHTTP(address) || strings.HasPrefix(address, "/") {
		return address
	}
	return "./" + url.PathEscape(address)
}

func (a *polledAnswer) late() *record.Error {
	return &record.Error{Code: 504, Type: "TimeoutError", Message: "The job did not end within " + strconv.FormatFloat(a.set.Timeout.Seconds(), 'f', -1, 64) + " s"}
}

// Result implements Answer.
func (a *polledAnswer) Result() Result {
	r := a.final.Result()
	if a.failure != nil {
		r.Failure = a.failure
	} else if a.states > 0 && !a.ended {
		r.Failure = a.fail("The job did not end")
	}
	return r
}
