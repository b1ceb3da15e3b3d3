package winpath

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// FS-02, FS-03: only one way to write a path is taken; every other is told apart.
func TestCanonical(t *testing.T) {
	long := strings.Repeat("x", MaxName)
	for path, want := range map[string]Problem{
		`C:\`: None, `C:\a`: None, `Z:\Users\a b\ä\日本語.txt`: None, `C:\` + long: None, `C:\.git\config`: None, `C:\a\...x`: None, `C:\nulx\com\com10`: None,
		`C:\` + strings.Repeat(`x\`, 16000) + "x": None, `C:\𝔘`: None,
		"": Empty, "C:": NotDrive, "C:a": NotDrive, `C:a\b`: NotDrive, `\a`: NotDrive, `a\b`: NotDrive, "c:\\a": NotDrive, "/a": NotDrive, "1:\\a": NotDrive, "C:/a": NotDrive,
		`\\server\share\a`: Network, `\\?\UNC\server\share\a`: Network, `//server/share`: Network, `\\?\unc\s\s`: Network, `\\localhost\C$\a`: Network,
		`\\?\C:\a`: DevicePth, `\\.\C:\a`: DevicePth, `\\.\pipe\x`: DevicePth, `\\?\GLOBALROOT\Device\Null`: DevicePth, `\??\C:\a`: DevicePth,
		`\\?\Volume{0}\a`: DevicePth, `\\.`: DevicePth, `//?/C:/a`: DevicePth,
		`C:\a\..\b`: Dots, `C:\.\a`: Dots, `C:\a\`: Separator, `C:\a\\b`: Separator, `C:\a/b`: Separator,
		`C:\a.`: Trailing, `C:\a \b`: Trailing, `C:\a..`: Trailing, `C:\a. .`: Trailing, `C:\...`: Trailing,
		`C:\a:b`: Stream, `C:\a::$DATA`: Stream, `C:\dir:$I30:$INDEX_ALLOCATION\b`: Stream, `C:\a:`: Stream,
		`C:\NUL`: Reserved, `C:\a\con`: Reserved, `C:\nul.txt`: Reserved, `C:\nul .tar.gz`: Reserved, `C:\COM1`: Reserved, `C:\lpt9.x`: Reserved, `C:\COM¹`: Reserved,
		`C:\lpt³.log`: Reserved, `C:\conin$`: Reserved, `C:\CONOUT$`: Reserved, `C:\aux\b`: Reserved, `C:\PRN`: Reserved, `C:\com0`: Reserved, `C:\clock$`: Reserved,
		`C:\a*`: Character, `C:\a?b`: Character, "C:\\a\x00b": Character, "C:\\a\nb": Character, `C:\a|b`: Character, `C:\"a"`: Character, `C:\<`: Character,
		"C:\\a\ufffd": Surrogate, "C:\\a\xff": Surrogate,
		`C:\` + long + "x": TooLong, `C:\` + strings.Repeat(`x\`, 16400) + "x": TooLong,
	} {
		assert.Equal(t, want, Canonical(path), "%.80q", path)
	}
}

func TestOf(t *testing.T) {
	for path, want := range map[string][3]any{
		`C:\a\b`: {Drive, "C:", `a\b`}, `\\?\c:\a`: {Drive, "c:", "a"}, `C:a`: {DriveRelative, "C:", "a"}, `\a`: {Rooted, "", "a"}, `a`: {Relative, "", "a"}, "": {Relative, "", ""},
		`//s/h/x`: {UNC, `\\s\h`, "x"}, `\\?\UNC\s\h\x`: {UNC, `\\s\h`, "x"}, `\\.\x`: {Device, `\\.\x`, ""}, `\\?\x`: {Device, `\\?\x`, ""}, "é:x": {Relative, "", "é:x"},
	} {
		form, volume, rest := Of(path)
		assert.Equal(t, want, [3]any{form, volume, rest}, path)
	}
}

func TestShort(t *testing.T) {
	for name, want := range map[string]bool{
		"PROGRA~1": true, "AB12~1.TXT": true, "a~1": true, "ab~12.x": true, "a~10.htm": true,
		"~1": true, "a~b": false, "a~": false, "longname~1": false, "a~1.html": false, "a~1.b.c": false, "backup": false, "": false,
	} {
		assert.Equal(t, want, Short(name), name)
	}
}

// Names that NTFS holds to be equal are equal, and no others: a letter that Unicode would fold into ASCII is another name.
func TestSame_IsTheVolumesOwnComparison(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`C:\Work`, `C:\WORK`, true},
		{`C:\ärger`, `C:\ÄRGER`, true},
		{`C:\ωΣ`, `C:\Ωσ`, true},
		{`C:\straße`, `C:\STRASSE`, false},
		{`C:\ı`, `C:\I`, false},
		{`C:\ſ`, `C:\S`, false},
		{"C:\\\u212a", `C:\k`, false},
		{`C:\𐐨`, `C:\𐐀`, false}, // beyond the first plane there is no case
		{`C:\a`, `D:\a`, false},
	} {
		assert.Equal(t, c.want, Same(c.a, c.b), c.a)
		assert.Equal(t, c.want, Under(c.a+`\x`, c.b), c.a)
	}
}

func TestUnder(t *testing.T) {
	for _, c := range []struct {
		path, dir string
		want      bool
	}{
		{`C:\a`, `C:\a`, true},
		{`C:\A\b`, `C:\a`, true},
		{`C:\ab`, `C:\a`, false},
		{`C:\a`, `C:\a\b`, false},
		{`C:\a`, `C:\`, true},
		{`C:\`, `C:\`, true},
		{`D:\a`, `C:\`, false},
	} {
		assert.Equal(t, c.want, Under(c.path, c.dir), c)
	}
}

func TestParts(t *testing.T) {
	assert.Equal(t, []string{`C:\`, `C:\a`, `C:\a\b`}, Above(`C:\a\b\c`))
	assert.Equal(t, []string{`C:\`}, Above(`C:\a`))
	assert.Empty(t, Above(`C:\`))
	assert.Equal(t, `C:\a`, Dir(`C:\a\b`))
	assert.Equal(t, `C:\`, Dir(`C:\a`))
	assert.Equal(t, `C:\`, Dir(`C:\`))
	assert.Equal(t, "b", Base(`C:\a\b`))
	assert.Equal(t, `C:\a`, Join(`C:\`, "a"))
	assert.Equal(t, `\\?\C:\a`, Extended(`C:\a`))
	assert.Equal(t, `\\?\C:\a`, Extended(`\\?\C:\a`))
	assert.Equal(t, `C:\a`, FromFinal(`\\?\c:\a`))
	assert.Equal(t, `\\server\share\a`, FromFinal(`\\?\UNC\server\share\a`))
	assert.Equal(t, `\\?\Volume{1}\a`, FromFinal(`\\?\Volume{1}\a`))
}

// FS-02, FS-03: what a handle says decides.
func TestAgree(t *testing.T) {
	for _, c := range []struct {
		asked, final string
		want         Problem
	}{
		{`C:\Work`, `\\?\C:\Work`, None},
		{`C:\work`, `\\?\C:\Work`, None},
		{`C:\PROGRA~1\x`, `\\?\C:\Program Files\x`, ShortName},
		{`C:\a~1`, `\\?\C:\a~1`, None}, // it really is called that
		{`C:\link\x`, `\\?\D:\target\x`, Elsewhere},
		{`C:\mount`, `\\?\Volume{1}\`, Elsewhere},
		{`Z:\x`, `\\?\UNC\server\share\x`, Network},
	} {
		assert.Equal(t, c.want, Agree(c.asked, c.final), c.asked)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`C:\a\b`, `\\?\C:\a`, `C:\nul.txt`, "C:\\a\xff", `\\s\h`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if Canonical(path) != None {
			return
		}
		assert.Equal(t, path, FromFinal(Extended(path)))
		assert.True(t, Under(path, path))
		assert.True(t, Under(path, Dir(path)))
		assert.Equal(t, None, Canonical(Dir(path)))
		assert.True(t, Same(path, Fold(path)) || Canonical(Fold(path)) != None)
	})
}
