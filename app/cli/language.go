package cli

// Language reads the language of POSIX locale variables for programs without a configuration: ja_JP.UTF-8 → ja-JP, English
// when nothing is set.
func Language(getenv func(string) string) string { return environment(getenv) }
