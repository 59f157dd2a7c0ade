"use strict";
// Moves a line over the lanes of a recording while it plays, and plays from where a lane is clicked.
for (const box of document.querySelectorAll(".fx-recording:not(.fx-ready)")) {
  box.classList.add("fx-ready");
  const audio = box.querySelector("audio");
  if (!audio) continue;
  const seconds = Number(box.dataset.seconds);
  const cursors = box.querySelectorAll(".fx-cursor");
  const show = () => {
    box.classList.toggle("fx-following", audio.currentTime > 0);
    for (const cursor of cursors) cursor.style.left = `${(100 * audio.currentTime) / seconds}%`;
    if (!audio.paused) requestAnimationFrame(show);
  };
  for (const event of ["play", "seeked", "timeupdate"]) audio.addEventListener(event, show);
  for (const lane of box.querySelectorAll(".fx-lane-box")) {
    lane.addEventListener("click", (click) => {
      const frame = lane.getBoundingClientRect();
      audio.currentTime = (seconds * (click.clientX - frame.left)) / frame.width;
      show();
    });
  }
}
