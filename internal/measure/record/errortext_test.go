package record

import "testing"

func TestSaid(t *testing.T) {
	for message, want := range map[string]string{
		"plain words": "plain words",
		"":            "",
		` {"error":{"message":"The model is gone","type":"x","code":404}}`: "The model is gone",
		`{"error":"full"}`: "full",
		`{"object":"error","message":"too long","code":40303}`:                        "too long",
		`{"detail":[{"loc":["body"],"msg":"field required"},{"msg":"not a number"}]}`: "field required; not a number",
		`{"detail":"Not Found"}`:                  "Not Found",
		`{"errors":[{"message":"a"},"b"]}`:        "a; b",
		`{"message":"","error":{"message":"in"}}`: "in",
		`{"code":7}`:                 `{"code":7}`,
		`{"error":{"message":"cut o`: `{"error":{"message":"cut o`,
		`[1,2]`:                      `[1,2]`,
		`{"a":{"b":1}} tail`:         `{"a":{"b":1}} tail`,
		`{"error":{"error":{"error":{"error":{"error":"deep"}}}}}`: `{"error":{"error":{"error":{"error":{"error":"deep"}}}}}`,
	} {
		if got := (&Error{Message: message}).Reason(); got != want {
			t.Errorf("%s says %q, not %q", message, got, want)
		}
	}
}
