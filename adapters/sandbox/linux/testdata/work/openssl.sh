# needs: openssl /etc/ssl/certs/ca-certificates.crt
bundle=/etc/ssl/certs/ca-certificates.crt
awk '/BEGIN/ { n++ } n == 1' $bundle >one.pem
openssl verify -CAfile $bundle one.pem | grep -q OK
openssl verify one.pem | grep -q OK # by the default paths alone
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=ca -days 2 2>/dev/null
openssl req -newkey rsa:2048 -nodes -keyout k.key -out k.csr -subj /CN=leaf 2>/dev/null
openssl x509 -req -in k.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out k.pem -days 1 2>/dev/null
openssl verify -CAfile ca.pem k.pem | grep -q OK
if openssl verify k.pem >/dev/null 2>&1; then exit 1; fi
head -c 1000000 /dev/zero | openssl enc -aes-256-cbc -pbkdf2 -pass pass:x | openssl enc -d -aes-256-cbc -pbkdf2 -pass pass:x | cmp -n 1000000 - /dev/zero
