package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// P-L12: a run in which nothing happened says so, and its JSON has no number that
// is none.
func TestRunWithoutARequestSaysNoData(t *testing.T) {
	path := filepath.Join(t.TempDir(), "quiet.yaml")
	text := "version: 1\nname: quiet\nfleet: {clients: 1}\narrival: {kind: poisson, rate: 0.001/s}\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", path, "--virtual", "--duration", "100ms"}
	code, out, complaint := call(args...)
	if code != exitOK || !strings.Contains(out, "no data: none began") || strings.Contains(out, "NaN") {
		t.Errorf("code %d, %s%s", code, out, complaint)
	}
	code, out, complaint = call(append(args, "--json")...)
	var summary struct {
		Requests      int
		Amplification *float64
		Herd          struct {
			Peak *float64 `json:"peak_to_mean"`
		}
	}
	if err := json.Unmarshal([]byte(out), &summary); code != exitOK || err != nil {
		t.Fatalf("code %d, %v: %s%s", code, err, out, complaint)
	}
	if summary.Requests != 0 || summary.Amplification != nil || summary.Herd.Peak != nil {
		t.Errorf("%+v, want no request and null for what has no value", summary)
	}
}
