package scenarios

import "testing"

// TestLognormalAloneIsNotFixed: who asks for the shape and no more gets a tail.
func TestLognormalAloneIsNotFixed(t *testing.T) {
	s, err := Parse("f.yaml", []byte(head+"server: {service: {shape: lognormal}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Server.Service.Sigma == 0 {
		t.Error("lognormal service times have no spread unless sigma is set as well")
	}
}
