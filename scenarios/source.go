package scenarios

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// maxFile is the largest file that is read, in bytes.
const maxFile = 1 << 20

// Load reads a scenario from a file; "-" is the standard input. The error is an
// *Error, also where the file cannot be read.
func Load(path string) (Scenario, error) {
	name, in := "stdin", io.Reader(os.Stdin)
	if path != "-" {
		file, err := open(path)
		if err != nil {
			return Scenario{}, err
		}
		defer file.Close()
		name, in = path, file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return Scenario{}, unreadable(name, err)
	}
	return Parse(name, data)
}

func open(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("it is a directory, not a file")
	}
	if err != nil {
		file.Close()
		return nil, unreadable(path, err)
	}
	return file, nil
}

func unreadable(name string, err error) error {
	why := err
	var failed *os.PathError
	if errors.As(err, &failed) {
		why = failed.Err // the path is in the message already
	}
	return &Error{File: name, Msg: "cannot be read: " + why.Error(), err: err}
}

// cleanText makes data into text with plain line ends, or says what kind of
// file it is instead.
func cleanText(data []byte) (string, *Error) {
	if len(data) > maxFile {
		return "", &Error{Msg: "is too large; a scenario may have 1 MB"}
	}
	if isUTF16(data) {
		return "", &Error{Line: 1, Column: 1, Msg: "is written in UTF-16; save it as UTF-8"}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	if i := firstUnreadable(text); i >= 0 {
		line, column := placeIn(text, i)
		return "", &Error{Line: line, Column: column, Msg: unreadableByte(text[i])}
	}
	return text, nil
}

// isUTF16 recognises the byte order mark, and the zeros that every other byte
// of UTF-16 is where it holds a file like ours.
func isUTF16(data []byte) bool {
	if len(data) < 4 {
		return false
	}
	mark := string(data[:2])
	return mark == "\xff\xfe" || mark == "\xfe\xff" ||
		data[0] == 0 && data[2] == 0 && data[1] != 0 || data[1] == 0 && data[3] == 0 && data[0] != 0
}

// firstUnreadable finds the first byte that is no UTF-8, or that YAML does not
// allow; -1 if there is none.
func firstUnreadable(text string) int {
	for i, r := range text {
		control := r < ' ' && r != '\n' && r != '\t' || r == 0x7f
		if control || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return i
		}
	}
	return -1
}

func unreadableByte(c byte) string {
	switch {
	case c == 0:
		return "there is a NUL byte here; a scenario is plain text"
	case c < utf8.RuneSelf:
		return "there is a control character here; a scenario is plain text"
	}
	return "this is not UTF-8; save the file as UTF-8"
}

// placeIn is the line and column of a byte, both from 1; columns count runes.
func placeIn(text string, i int) (line, column int) {
	before := text[:i]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}
