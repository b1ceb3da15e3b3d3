# certs: the system's bundle
import ssl
c = ssl.create_default_context()
assert c.verify_mode == ssl.CERT_REQUIRED and c.check_hostname
assert c.cert_store_stats()['x509_ca'] > 10 or ssl.get_default_verify_paths().capath, c.cert_store_stats()
import hashlib; hashlib.new('sha256', b'x'); ssl.RAND_bytes(16)
