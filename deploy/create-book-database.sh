#!/bin/sh
# Creates the database of the book and the role that owns it, unless they exist. Run by docker-compose.yml as the superuser
# that PGHOST and PGUSER name; the passwords are files in /run/postgres.
set -eu
PGPASSWORD=$(cat /run/postgres/password)
export PGPASSWORD
ask() { psql --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 --dbname=postgres "$@"; }

if [ -z "$(ask --command="SELECT 1 FROM pg_roles WHERE rolname = 'bookkeeper'")" ]; then
  # From standard input, so that no list of processes shows it.
  printf "CREATE ROLE bookkeeper LOGIN PASSWORD '%s';\n" "$(cat /run/postgres/bookkeeper-password)" | ask
fi
if [ -z "$(ask --command="SELECT 1 FROM pg_database WHERE datname = 'tollgate'")" ]; then
  ask --command='CREATE DATABASE tollgate OWNER bookkeeper'
  ask --command='REVOKE CONNECT ON DATABASE tollgate FROM PUBLIC'
fi
echo 'postgres: the database tollgate and its role bookkeeper exist'
