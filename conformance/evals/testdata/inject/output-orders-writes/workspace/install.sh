if echo bad > {{place}}/outside/secret.txt; then echo written; else echo refused; fi 2>/dev/null
if echo bad > ../outside/secret.txt; then echo written; else echo refused; fi 2>/dev/null
