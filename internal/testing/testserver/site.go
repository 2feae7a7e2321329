//go:build unix

package testserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Site is where a server lives.
type Site struct {
	// Dir is a folder that is its own, and belongs to Account.
	Dir string
	// Account is the account that the server runs as. Nil: that of this process.
	Account *syscall.Credential
}

// Unprivileged returns the account that servers run as, nil unless this process is root: PostgreSQL refuses
// to be root, and nothing that listens needs to.
func Unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil is the account of this process
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("read the ids of %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("running as root, and neither postgres nor nobody is there to run servers as")
}

// Directory makes a folder that belongs to account, as [os.MkdirTemp] does.
func Directory(parent, pattern string, account *syscall.Credential) (string, error) {
	dir, err := os.MkdirTemp(parent, pattern)
	if err != nil {
		return "", err
	}
	if err := give(dir, account); err != nil {
		return "", errors.Join(err, os.Remove(dir))
	}
	return dir, nil
}

// give makes a file that of an account, if there is one.
func give(file string, account *syscall.Credential) error {
	if account == nil {
		return nil
	}
	return os.Chown(file, int(account.Uid), int(account.Gid))
}

// WriteFile writes a file that only the site's account can read, and returns its path.
func (in Site) WriteFile(name, text string) (string, error) {
	root, err := os.OpenRoot(in.Dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := root.WriteFile(name, []byte(text), 0o600); err != nil {
		return "", err
	}
	file := filepath.Join(in.Dir, name)
	return file, give(file, in.Account)
}

// Confined has a command run as the site's account in its folder, with nothing of our
// environment but where programs are. It gets the signal when this process is killed.
func Confined(cmd *exec.Cmd, in Site, orphaned syscall.Signal) *exec.Cmd {
	cmd.Dir = in.Dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + in.Dir, "LC_ALL=C.UTF-8", "TZ=UTC"}
	cmd.SysProcAttr = OwnGroup(orphaned)
	cmd.SysProcAttr.Credential = in.Account
	return cmd
}

// Path returns the folders of a PATH, except those that depend on where this process is.
func Path(variable string) []string {
	return slices.DeleteFunc(filepath.SplitList(variable), func(dir string) bool { return !filepath.IsAbs(dir) })
}

// Find returns the path of the first program with one of these names, and "" if there is none.
func Find(path []string, names ...string) string {
	for _, name := range names {
		for _, dir := range path {
			if binary := filepath.Join(dir, name); executable(binary) {
				return binary
			}
		}
	}
	return ""
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Without returns an environment without a variable.
func Without(environ []string, variable string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		return strings.HasPrefix(entry, variable+"=")
	})
}
