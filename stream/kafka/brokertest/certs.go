//go:build kafka && unix

package brokertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Authority makes certificates that are good for an hour.
type Authority struct {
	// CAFile is the PEM file of its own certificate.
	CAFile string

	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Files are the PEM files of a certificate, its key, and both in one.
type Files struct{ Cert, Key, Both string }

// NewAuthority makes an authority of its own.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{dir: t.TempDir()}
	a.key = newKey(t)
	a.cert = template("authority")
	a.cert.IsCA, a.cert.KeyUsage = true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	a.CAFile = a.write(t, "ca.pem", encode("CERTIFICATE", der))
	return a
}

// Issue makes a certificate for a name, and for 127.0.0.1.
func (a *Authority) Issue(t testing.TB, name string) Files {
	t.Helper()
	key := newKey(t)
	cert := template(name)
	cert.IPAddresses, cert.KeyUsage = []net.IP{net.IPv4(127, 0, 0, 1)}, x509.KeyUsageDigitalSignature
	cert.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c, k := encode("CERTIFICATE", der), encode("PRIVATE KEY", pkcs8)
	return Files{
		Cert: a.write(t, name+".pem", c),
		Key:  a.write(t, name+"-key.pem", k),
		Both: a.write(t, name+"-both.pem", slices.Concat(k, c)),
	}
}

func template(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62)) // never fails: see crypto/rand
	return &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour)}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func (a *Authority) write(t testing.TB, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
