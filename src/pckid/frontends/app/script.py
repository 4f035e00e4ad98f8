"""What Streamlit runs for every page and every click; a process that computes skips it."""

if __name__ == "__main__":
    from pckid.frontends.app.page import draw_page

    draw_page()
