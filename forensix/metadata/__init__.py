"""Facts: what files say of themselves. ``reader`` has a child process read them; the formats lie in wings.

Keys that mean the same in every medium, whichever reader found them:

    file.size file.name file.extension file.extension_fits file.head file.tail
    device.make device.model device.serial device.lens      text
    gps.latitude gps.longitude                              degrees, floats
    gps.satellite_time                                      text, of a camera's telemetry
    exiftool.*                                              what only ExifTool found (forensix.metadata.exiftool)
    c2pa.*                                                  content credentials (forensix.metadata.blocks.c2pa)
    xmp.*                                                   ``xmp.<prefix>.<Name>`` (forensix.metadata.blocks.xmp)

All others begin with the name of where they were read: ``exif.Software``, ``iptc.caption``, ``png.text.parameters``,
``jpeg.comment``, ``pdf.info.Producer``, ``container.udta.encoder``, ``id3.TSSE``.
"""
