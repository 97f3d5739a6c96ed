package plane

import (
	"crypto/tls"
	"net/http"
	"time"
)

// waitReady returns true when the API server says that it is ready, false after the given time.
func (p *Plane) waitReady(limit time.Duration) bool {
	// The certificate is one that the API server is only just making.
	unchecked := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // as above
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: unchecked}}
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if p.isReady(client) {
			return true
		}
	}
	return false
}

func (p *Plane) isReady(client *http.Client) bool {
	r, err := http.NewRequest(http.MethodGet, p.server()+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	r.Header.Set("Authorization", "Bearer "+p.credentials.token)
	answer, err := client.Do(r)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}
