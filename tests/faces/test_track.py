"""Faces are followed: one track a person, boxes near the truth, memory that does not grow."""

from dataclasses import replace
from itertools import permutations, product

import av
import numpy as np
import pytest

from forensix.faces import stills, track, track_frames
from forensix.faces.align import ALIGNED_PX, TEMPLATE, aligned
from forensix.faces.crop import crop, cut, resized, square
from forensix.faces.detect import Detections, Mtcnn, detect
from forensix.faces.linking import MAX_TRACKS, Linker, assigned, iou
from forensix.faces.sampling import sampling_rate_hz, thinned
from forensix.faces.track import KEY_S
from forensix.media import Frame, open_media
from tests.making import write_video

STEP_MS = 200.0


def frames_of(pictures, step_ms=STEP_MS):
    return [Frame(6 * i, step_ms * i, rgb, 1.0) for i, rgb in enumerate(pictures) if rgb is not None]


def test_a_moving_face_is_one_track_near_the_truth(head, paste):
    lefts = [20 + 15 * i for i in range(12)]
    still = detect([paste((head, lefts[0], 50))])[0].boxes[0]
    (one,) = track_frames(frames_of([paste((head, left, 50)) for left in lefts]), frame_rate_hz=30.0)
    assert len(one) == 12
    truth = np.array([(left - lefts[0], 0, left - lefts[0], 0) for left in lefts]) + still
    assert np.diag(iou(one.boxes, truth)).min() > 0.75
    assert one.frame_idx.tolist() == [6 * i for i in range(12)]
    assert one.frame_ms.tolist() == [STEP_MS * i for i in range(12)]
    assert one.frame_rate_hz == 30.0 and one.id == 0
    assert one.crops.shape == (12, ALIGNED_PX, ALIGNED_PX, 3) and one.crops.dtype == np.uint8
    assert one.landmarks.shape == (12, 5, 2) and one.detail_gaps.shape == (12,)


def test_two_faces_that_cross_keep_their_names(head, other_head, paste):
    # They pass at different heights, as people do, and overlap in the middle.
    pictures = [paste((head, 10 + 20 * i, 5), (other_head, 250 - 20 * i, 110)) for i in range(13)]
    tracks = track_frames(frames_of(pictures))
    assert len(tracks) == 2
    for one in tracks:
        steps = np.diff(one.boxes[:, 0])
        assert len(one) >= 11
        assert (steps > 0).all() or (steps < 0).all()


def test_a_short_gap_is_bridged_and_a_long_one_is_not(head, paste):
    full, empty = paste((head, 100, 50)), paste()
    (one,) = track_frames(frames_of([full] * 4 + [empty] * 3 + [full] * 4))
    assert len(one) == 8
    # Frames without the face are not invented.
    assert not set(one.frame_idx.tolist()) & {24, 30, 36}
    assert len(track_frames(frames_of([full] * 4 + [empty] * 9 + [full] * 4))) == 2


@pytest.mark.parametrize("step_ms", [1100.0, 3000.0])
def test_a_face_is_followed_over_frames_that_lie_far_apart(step_ms, head, other_head, paste):
    full, empty = paste((head, 100, 50)), paste()
    (one,) = track_frames(frames_of([full] * 3 + [empty] + [full] * 3, step_ms))
    assert one.frame_idx.tolist() == [0, 6, 12, 24, 30, 36]
    assert len(track_frames(frames_of([full] * 3 + [empty] * 2 + [full] * 3, step_ms))) == 2
    pictures = [full] * 3 + [paste((other_head, 100, 50))] * 3
    assert [len(one) for one in track_frames(frames_of(pictures, step_ms))] == [3, 3]


def test_a_face_follows_through_a_pause_of_the_frames(head, paste):
    frames = frames_of([paste((head, 100, 50))] * 4)
    (one,) = track_frames([*frames, *(replace(frame, ms=frame.ms + 9000) for frame in frames)])
    assert len(one) == 8


def test_a_face_that_no_other_frame_could_show_again_is_kept(head, other_head, paste):
    pictures = [paste(), paste((head, 100, 50)), paste((other_head, 20, 50)), paste()]
    assert [len(one) for one in track_frames(frames_of(pictures, 3000.0))] == [1, 1]
    # Where frames come as they were asked for, what is seen once is dropped.
    assert track_frames(frames_of(pictures, 3000.0), interval_s=3.0) == ()


def test_a_cut_to_another_person_ends_the_track(head, other_head, paste):
    pictures = [paste((head, 100, 50))] * 5 + [paste((other_head, 100, 50))] * 5
    assert [len(one) for one in track_frames(frames_of(pictures))] == [5, 5]


def test_crops_are_bounded_and_spread_over_time(head, paste):
    frame = paste((head, 100, 50))
    (one,) = track_frames(frames_of([frame] * 45), max_crops=8)
    assert len(one) == 45
    assert 4 <= len(one.crops) <= 8
    gaps = np.diff(one.kept)
    assert gaps.min() == gaps.max()
    assert one.kept[-1] >= 45 - 2 * gaps[0]
    assert one.frame_idx[one.kept].tolist() == (6 * one.kept).tolist()


def test_crops_that_a_known_duration_has_no_room_for_are_not_cut(head, paste, monkeypatch):
    def counted(*given):
        cut_of.append(len(cut_of))
        return aligned(*given)

    monkeypatch.setattr("forensix.faces.linking.aligned", counted)
    cuts = []
    for duration_s in (None, 45 * STEP_MS / 1000):
        cut_of: list[int] = []
        (one,) = track_frames(frames_of([paste((head, 100, 50))] * 45), duration_s=duration_s, max_crops=12)
        cuts.append((one.kept.tolist(), len(cut_of)))
    (kept, n_blind), (kept_knowing, n_knowing) = cuts
    assert kept_knowing == kept == list(range(0, 45, 4))
    assert n_knowing < n_blind


def test_the_gap_of_fine_detail_is_measured_of_some_crops_and_of_all_of_a_short_track(astronaut):
    frames = frames_of([astronaut] * 24)
    long, short = (track_frames(frames[:n])[0].detail_gaps for n in (24, 3))
    assert np.flatnonzero(np.isfinite(long)).tolist() == [0, 1, 2, 4, 6, 8]
    assert np.isfinite(short).all()
    (still,) = track_frames(frames[:1], measures_gaps=False)
    assert np.isnan(still.detail_gaps).all()


def test_faces_are_assigned_as_by_an_exhaustive_search():
    rng = np.random.default_rng(0)
    for n, m in ((1, 1), (2, 3), (3, 2), (3, 3)) * 20:
        value, allowed = rng.uniform(0.1, 1, (n, m)), rng.random((n, m)) < 0.5
        few = min(n, m)
        sums = []
        for rows, columns in product(permutations(range(n), few), permutations(range(m), few)):
            values = [value[i, j] for i, j in zip(rows, columns, strict=True) if allowed[i, j]]
            sums.append((len(values), sum(values)))
        pairs = assigned(value, allowed)
        assert (len(pairs), sum(value[i, j] for i, j in pairs)) == pytest.approx(max(sums))
        assert all(allowed[i, j] for i, j in pairs)
        assert all(len(set(one)) == len(pairs) for one in zip(*pairs, strict=True))


@pytest.mark.slow
def test_a_crowd_of_new_faces_in_every_frame_does_not_fill_the_memory():
    rng = np.random.default_rng(0)
    tracker = Linker(max_gap_ms=1, max_crops=8)
    picture = rng.integers(0, 256, (400, 400, 3)).astype(np.uint8)
    for i in range(12):
        corners = rng.uniform(0, 350, (60, 2))
        boxes = np.hstack([corners, corners + rng.uniform(10, 40, (60, 1))])
        points = TEMPLATE / 10 + corners[:, None]
        tracker.add(Frame(i, 1000.0 * i, picture, 1.0), Detections(boxes, np.ones(60), points))
        assert len(tracker.done) + len(tracker.active) <= MAX_TRACKS


def test_what_is_seen_once_in_a_video_is_dropped(head, paste):
    assert track_frames(frames_of([paste()] * 3 + [paste((head, 100, 50))] + [paste()] * 3)) == ()


def test_an_image_is_a_video_of_one_frame(astronaut, tmp_path):
    from PIL import Image

    Image.fromarray(astronaut).save(tmp_path / "a.png")
    with open_media(tmp_path / "a.png") as media:
        tracks = track(media)
        assert track(media) is tracks
    (one,) = tracks
    assert len(one) == 1 and one.frame_rate_hz == 0.0 and one.frame_idx.tolist() == [0]


def test_a_video_file_is_followed_at_a_limited_rate(head, paste, tmp_path):
    with av.open(str(tmp_path / "clip.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 360, 240, "yuv420p"
        for i in range(50):
            frame = av.VideoFrame.from_ndarray(paste((head, 20 + 3 * i, 50)), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    with open_media(tmp_path / "clip.mp4") as media:
        (one,) = track(media)
    assert 9 <= len(one) <= 11
    assert one.frame_rate_hz == pytest.approx(25)
    np.testing.assert_allclose(one.frame_ms, one.frame_idx * 40, atol=1)
    assert (np.diff(one.boxes[:, 0]) > 5).all()


def test_a_face_that_rushes_out_of_the_frame_ends_its_track(head, paste):
    canvas = [paste((head, left, 50)) for left in (170, 200, 230, 260)]
    (one,) = track_frames(frames_of([*canvas, *[paste()] * 6]))
    assert one.frame_idx.tolist() == [0, 6, 12, 18]


def test_an_area_beyond_the_picture_repeats_its_edge():
    picture = np.zeros((20, 30, 3), np.uint8)
    picture[:, -1] = 200
    assert (cut(picture, np.array([80.0, -90, 120, -50]), 16) == 200).all()
    assert (cut(picture, np.array([-120.0, 50, -80, 90]), 16) == 0).all()


@pytest.mark.parametrize("filter", ["bilinear", "bicubic"])
def test_scaling_down_gives_what_pil_gives(astronaut, filter):
    from PIL import Image

    # A view turned by a quarter, as frames of a phone come.
    turned = np.rot90(astronaut)[20:420, 10:]
    small = resized(turned, (133, 101), filter=filter)
    expected = np.asarray(Image.fromarray(turned).resize((133, 101), Image.Resampling[filter.upper()]))
    apart = np.abs(small.astype(int) - expected)
    assert apart.max() <= 1 and (apart > 0).mean() < 0.01


def test_progress_is_told_and_stills_are_kept_of_a_video(head, paste, tmp_path):
    pictures = [paste((head, 20 + 3 * i, 50)) for i in range(50)]
    write_video(tmp_path / "clip.mp4", 50, (360, 240), 25, paint=pictures.__getitem__)
    shares: list[float] = []
    with open_media(tmp_path / "clip.mp4") as media:
        (one,) = track(media, progress=shares.append)
        kept = stills(media)
    assert shares == sorted(shares) and len(shares) >= 8 and 0.8 < shares[-1] <= 1
    assert {still.index for still in kept} >= set(one.frame_idx.tolist())
    assert kept[0].rgb.shape == (240, 360, 3) and kept[0].scale == 1.0


def test_a_face_that_appears_without_a_cut_is_found_within_the_key_interval(head, other_head, paste):
    pictures = [
        paste((head, 20 + i, 20)) if i < 4 else paste((head, 20 + i, 20), (other_head, 220, 100)) for i in range(30)
    ]
    first, second = track_frames(frames_of(pictures))
    assert len(first) == 30
    assert second.frame_ms[0] <= 4 * STEP_MS + 1000 * KEY_S


def test_following_costs_few_searches(head, paste):
    class Counted(Mtcnn):
        def detect(self, pictures, **options):
            calls.append(len(pictures))
            return super().detect(pictures, **options)

    calls: list[int] = []
    (one,) = track_frames(frames_of([paste((head, 20 + 2 * i, 50)) for i in range(40)]), detector=Counted())
    assert len(one) == 40 and len(calls) <= 6
    assert np.abs(np.diff(one.boxes[:, 0])).max() < 8, "boxes of searches and of following agree"


def test_the_rate_falls_with_duration_and_has_a_floor():
    rates = [sampling_rate_hz(s) for s in (None, 1, 100, 1000, 1800, 1e6)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == 5.0 and rates[-1] == 0.5


def test_a_video_that_goes_on_and_on_is_looked_at_less_and_less_often():
    looked_at = list(thinned(iter(range(9000))))
    assert looked_at[:1200] == list(range(1200)), "what is as long as it said is looked at whole"
    apart = np.diff(looked_at)
    assert (np.diff(apart) >= 0).all() and apart.max() == 4 and len(looked_at) < 4000


def test_crops_beyond_the_edge_repeat_it():
    picture = np.zeros((40, 40, 3), np.uint8)
    picture[:, :20] = 200
    cropped = crop(picture, np.array([-20.0, 0, 20, 40]), margin=1.0, size_px=40)
    assert (cropped == 200).all()
    np.testing.assert_array_equal(cut(picture, np.array([0.0, 0, 40, 40]), 40), picture)
    np.testing.assert_allclose(square(np.array([0, 0, 10, 20]), 1.0), [-5, 0, 15, 20])


def test_tracks_of_the_development_videos(corpora):
    with open_media(corpora / "faces" / "dev/videos/fake/00649_Tim_Chrys_2.mp4") as media:
        assert [len(one) for one in track(media)] == [34, 34]
