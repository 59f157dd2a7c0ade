"use strict";
// Moves a line over every display of a report that has a time axis while one of its players plays, and plays from where
// a lane is clicked.
for (const report of document.querySelectorAll(".fx-report:not(.fx-ready)")) {
  report.classList.add("fx-ready");
  const players = [...report.querySelectorAll("audio, video")];
  if (!players.length) continue;
  let current = players[0];
  const lanes = [...report.querySelectorAll(".fx-timed .fx-lane-box")].map((lane) => {
    const { from, to } = lane.closest(".fx-timed").dataset;
    return { lane, cursor: lane.querySelector(".fx-cursor"), from: Number(from), to: Number(to) };
  });
  const show = (player) => {
    report.classList.toggle("fx-following", player.currentTime > 0);
    for (const { cursor, from, to } of lanes) {
      const at = (player.currentTime - from) / (to - from);
      cursor.style.left = `${100 * at}%`;
      cursor.hidden = at < 0 || at > 1;
    }
    if (!player.paused) requestAnimationFrame(() => show(player));
  };
  for (const player of players) {
    for (const event of ["play", "seeked", "timeupdate"]) player.addEventListener(event, () => show(player));
    player.addEventListener("play", () => {
      current = player;
      for (const other of players) if (other !== player) other.pause();
    });
  }
  for (const { lane, from, to } of lanes) {
    lane.addEventListener("click", (click) => {
      const frame = lane.getBoundingClientRect();
      current.currentTime = from + ((to - from) * (click.clientX - frame.left)) / frame.width;
      show(current);
    });
  }
}
