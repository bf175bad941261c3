package knob

import "strings"

// Nearest is the name that was probably meant by a misspelt one, whatever its
// case: the last part of a dotted name, the beginning of a longer one, or at
// most a third of the letters wrong. It reports false if none is near. Of
// equally near names the first one wins.
func Nearest(name string, names []string) (string, bool) {
	const longest = 64 // no name is longer, and distance takes quadratic time
	if name == "" || len(name) > longest {
		return "", false
	}
	best, found := 0, ""
	for _, candidate := range names {
		d := farness(strings.ToLower(name), strings.ToLower(candidate))
		if limit := max(1, len(candidate)/3); d <= limit && (found == "" || d < best) {
			best, found = d, candidate
		}
	}
	return found, found != ""
}

func farness(name, candidate string) int {
	switch {
	case strings.HasSuffix(candidate, "."+name):
		return 1
	case len(name) >= 3 && strings.HasPrefix(candidate, name):
		return 1
	}
	return distance(name, candidate)
}

// distance is the number of letters to insert, delete or replace to get from a
// to b (Levenshtein 1965), with a row of the table at a time.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
