package cli

import "github.com/spf13/cobra"

// helpCommand replaces the library's, which ends well on an unknown topic.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about := cmd.Root()
			for _, name := range args {
				next := child(about, name)
				if next == nil {
					return unknownCommand(about, name)
				}
				about = next
			}
			return about.Help()
		},
	}
}

func child(parent *cobra.Command, name string) *cobra.Command {
	for _, c := range parent.Commands() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}
