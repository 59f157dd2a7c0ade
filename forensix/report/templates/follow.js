"use strict";
// Moves a line over the lanes of a recording or a film while it plays, and plays from where a lane is clicked.
for (const box of document.querySelectorAll(".fx-recording:not(.fx-ready)")) {
  box.classList.add("fx-ready");
  const player = box.querySelector("audio, video");
  if (!player) continue;
  const seconds = Number(box.dataset.seconds);
  const cursors = box.querySelectorAll(".fx-cursor");
  const show = () => {
    box.classList.toggle("fx-following", player.currentTime > 0);
    for (const cursor of cursors) cursor.style.left = `${(100 * player.currentTime) / seconds}%`;
    if (!player.paused) requestAnimationFrame(show);
  };
  for (const event of ["play", "seeked", "timeupdate"]) player.addEventListener(event, show);
  for (const lane of box.querySelectorAll(".fx-lane-box")) {
    lane.addEventListener("click", (click) => {
      const frame = lane.getBoundingClientRect();
      player.currentTime = (seconds * (click.clientX - frame.left)) / frame.width;
      show();
    });
  }
}
