// Exchange the code behind the # for a cookie; the code leaves the address at once.
const code = location.hash.slice(1)
if (code) {
  history.replaceState(null, "", location.pathname)
  fetch("/ui/sign-in", {method: "POST", body: code, headers: {"Content-Type": "text/plain"}}).then(
    async (reply) => {
      if (reply.ok) return location.replace("/ui/")
      document.getElementById("problem").textContent = (await reply.json()).message
    },
  )
}
