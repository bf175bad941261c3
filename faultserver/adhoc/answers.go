package adhoc

import (
	"strconv"
	"strings"
	"time"

	"herdscope/engine/knob"
	"herdscope/engine/retryafter"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// status answers with one of the statuses of a list such as 200:0.9,503:0.1,
// drawn by weight; those without a weight have the weight 1.
func status(r *Request, _ []int64) (Answer, error) {
	var codes, weights []int64
	var total uint64
	for part := range strings.SplitSeq(r.Vars["codes"], ",") {
		code, weight, err := weighted(part)
		if err != nil {
			return Answer{}, err
		}
		codes, weights = append(codes, code), append(weights, weight)
		total += uint64(weight)
	}
	if total == 0 {
		return Answer{}, &knob.Error{
			Knob: "codes", Value: r.Vars["codes"], Problem: "has no weight above 0",
			Allowed: "such as 200:0.9,503:0.1",
		}
	}
	left := int64(rng.Below(r.draw(), total))
	i := 0
	for left >= weights[i] {
		left -= weights[i]
		i++
	}
	return Answer{Status: int(codes[i])}, nil
}

// weighted reads a status with its weight in thousandths.
func weighted(part string) (code, weight int64, err error) {
	text, share, given := strings.Cut(part, ":")
	spec := statusSpec(200)
	spec.Name = "codes"
	if code, err = spec.Parse(text); err != nil || !given {
		return code, 1000, err
	}
	const most = 1_000_000_000
	weight, err = knob.Spec{Name: "codes", Kind: knob.Ratio, Max: most}.Parse(share)
	return code, weight, err
}

// delay answers after a time.
func delay(r *Request, _ []int64) (Answer, error) {
	spec := waitSpec("d")
	v, err := spec.Parse(withUnit(&spec, r.Vars["d"]))
	return Answer{Status: 200, Wait: time.Duration(v)}, err
}

// unstable fails with a rate, and then answers with a status.
func unstable(r *Request, values []int64) (Answer, error) {
	if rng.Hit(r.draw(), values[0]) {
		return Answer{Status: int(values[1])}, nil
	}
	return Answer{Status: 200}, nil
}

// retryAfter answers with a Retry-After in a form, which asks to wait for a time;
// of the form raw it is the text itself.
func retryAfter(r *Request, values []int64) (Answer, error) {
	a := Answer{Status: int(values[0])}
	if r.Vars["form"] == rawForm {
		a.RetryAfter = []string{r.Vars["value"]}
		return a, nil
	}
	spec := knob.Spec{Name: "form", Kind: knob.Choice, Choices: append(wire.HintNames(), rawForm)}
	form, err := spec.Parse(r.Vars["form"])
	if err != nil {
		return a, err
	}
	span := waitSpec("value")
	wait, err := span.Parse(withUnit(&span, r.Vars["value"]))
	if err != nil {
		return a, err
	}
	hint := retryafter.FromDelay(wire.HintForm(form), r.Now, r.EpochUnixNanos, time.Duration(wait))
	if hint.Form.Pushback() {
		a.Pushback = retryafter.Fields(hint)
	} else {
		a.RetryAfter = retryafter.Fields(hint)
	}
	return a, nil
}

// rawForm is the form of a Retry-After that is written as it was asked for.
const rawForm = "raw"

// drip writes its body bit by bit.
func drip(_ *Request, values []int64) (Answer, error) {
	return Answer{
		Drip: time.Duration(values[0]), Bytes: int(values[1]),
		Wait: time.Duration(values[2]), Status: int(values[3]),
	}, nil
}

func reset(*Request, []int64) (Answer, error) { return Answer{Reset: true}, nil }

// withUnit reads a duration that is only a number as seconds, as httpbin does.
func withUnit(spec *knob.Spec, text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil && spec.Kind == knob.Duration {
		return text + "s"
	}
	return text
}

// list is some names in words.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
