"""Exchanges, refreshes and revokes tokens as an OAuth app does: oauth.py CLIENT_ID CLIENT_SECRET CODE VERIFIER."""

import os
import sys

from parley_sdk import Parley, ParleyError

URL = os.environ["PARLEY_URL"]
CLIENT_ID, CLIENT_SECRET, CODE, VERIFIER = sys.argv[1:]

with Parley(URL, "") as app:
    client = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    first = app.oauth_token(grant_type="authorization_code", code=CODE, code_verifier=VERIFIER, **client)
    second = app.oauth_token(grant_type="refresh_token", refresh_token=first["refresh_token"], **client)
    with Parley(URL, lambda: second["access_token"]) as parley:
        assert parley.token_info()["type"] == "oauth"
    app.oauth_revoke(token=second["refresh_token"], **client)
    with Parley(URL, lambda: second["access_token"]) as parley:
        try:
            parley.token_info()
            raise AssertionError("not revoked")
        except ParleyError as error:
            assert error.code == "token_invalid", error.code
    try:
        app.oauth_token(grant_type="refresh_token", refresh_token=second["refresh_token"], **client)
        raise AssertionError("not revoked")
    except ParleyError as error:
        assert error.code == "invalid_grant", error.code
        assert str(error) != "the server returned 400", error
print("tokens checked")
