import WebImageGallery

GalleryProgram.run()
