package live

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestAnotherModuleUsesIt builds and runs the module in testdata/client, which
// has this one by a replace line, without the network: all that the library
// needs is this module and the standard library.
func TestAnotherModuleUsesIt(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not installed")
	}
	cmd := exec.Command(goCommand, "run", ".")
	cmd.Dir = "testdata/client"
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go run: %v\n%s", err, out)
	}
	if got := strings.TrimSpace(string(out)); got != "200 after 3 attempts: hello" {
		t.Errorf("it printed %q", got)
	}
}
