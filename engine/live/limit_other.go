//go:build !unix

package live

func openFilesLimit() string { return "" }
