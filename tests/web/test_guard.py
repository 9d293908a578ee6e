"""Who may talk to the page."""

import pytest

from web.conftest import HOME, PORT


def test_nothing_without_the_token(fresh):
    answer = fresh.get("/api/state")
    assert answer.status_code == 403
    assert "version" not in answer.text


def test_a_wrong_token_gives_no_cookie(fresh):
    answer = fresh.request("GET", "/login?token=wrong")
    assert answer.status_code == 403
    assert not answer.cookies


def test_the_token_becomes_a_cookie_and_leaves_the_address(fresh):
    answer = fresh.request("GET", f"/login?token={fresh.guard.token}")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"sdckit_{PORT}=")  # browsers share cookies between ports
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert fresh.login().get("/api/state").status_code == 200


def test_two_starts_have_two_tokens(fresh):
    from sdckit.web.guard import Guard

    assert Guard(port=1).token != Guard(port=1).token
    assert len(fresh.guard.token) >= 43  # 256 bits


@pytest.mark.parametrize("host", ["evil.example", "evil.example:4711", "127.0.0.1", "127.0.0.1:80", ""])
def test_a_foreign_host_is_refused(fresh, host):
    answer = fresh.login().request("GET", "/api/state", headers={"host": host})
    assert answer.status_code == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", "http://127.0.0.1:80"])
def test_a_change_from_elsewhere_is_refused(fresh, origin):
    answer = fresh.login().request("POST", "/api/open", headers={"origin": origin}, json={"demo": "survey"})
    assert answer.status_code == 403


def test_cross_site_reading_is_refused(fresh):
    answer = fresh.login().request("GET", "/api/state", headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 403


@pytest.mark.parametrize("path", ["/", "/api/state", "/static/app.js", "/login?token=x", "/nothing"])
def test_every_answer_has_the_policy(fresh, path):
    headers = fresh.login().request("GET", path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"


def test_other_names_of_this_machine_are_ours(fresh):
    answer = fresh.login().request("GET", "/api/state", headers={"host": f"localhost:{PORT}", "origin": HOME})
    assert answer.status_code == 200


def test_no_route_is_outside_the_guard(fresh):
    """Each of them is refused without the token, from another page, and under another name."""
    asked = {"id": "1", "folder": "a", "name": "b"}
    for route in fresh.page.app().routes:
        path = getattr(route, "path_format", route.path).format(**asked, path="app.js")
        for method in sorted(getattr(route, "methods", None) or {"GET"}):
            assert fresh.request(method, path).status_code == 403, path
    fresh.login()
    for route in fresh.page.app().routes:
        path = getattr(route, "path_format", route.path).format(**asked, path="app.js")
        for method in sorted(getattr(route, "methods", None) or {"GET"}):
            assert fresh.request(method, path, headers={"host": "evil.example"}).status_code == 403, path
            if method not in ("GET", "HEAD"):
                answer = fresh.request(method, path, headers={"origin": "http://evil.example"})
                assert answer.status_code == 403, path
